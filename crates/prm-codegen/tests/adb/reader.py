"""Reads a register database of mstflint, apart from the importer, and prints what it says.

    node NAME BYTES
    field NODE NAME FIRST_BIT ELEMENT_BITS COUNT    (* for a list)
    value NODE FIELD NAME NUMBER
    register NAME ID LAYOUT                         (- where it has none)

Bits are counted from the most significant bit of the node. A bit of a dword is numbered here by
what it weighs in the number that the node's bytes make, read as one big-endian integer.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def layout(name):
    return re.sub("_ext$", "", name.lower())


def field_name(field):
    name = field.get("name")
    return layout(name) if name == field.get("subnode") else name.lower()


def word(text):
    return re.sub("[^A-Za-z0-9]", "_", text.strip())


def bits(text):
    """An address or a size: the dwords before it as bits, and bits in the last one."""
    whole, _, part = text.partition(".")
    return 8 * int(whole, 16) + int(part or 0)


def values(field):
    pairs = (pair.split("=") for pair in field.get("enum", "").split(",") if pair)
    return {word(name): int(number, 0) for name, number in pairs}


def place(node, field):
    """First bit, width of an element, and count."""
    size, low, high = bits(field.get("size")), field.get("low_bound"), field.get("high_bound")
    count = "*" if high == "VARIABLE" else 1 if high is None else int(high) - int(low) + 1
    width = size if count == "*" else size // count
    at = bits(field.get("offset"))
    # The weight of the last bit of the first element, in the dword that it ends in.
    dword, bit = at - at % 32, at % 32
    end = max(32, width)
    weight = bits(node.get("size")) - (dword + end) + bit
    return bits(node.get("size")) - weight - width, width, count


def main(path):
    nodes = {node.get("name"): node for node in ElementTree.parse(path).getroot().iter("node")}
    for node in nodes.values():
        name = layout(node.get("name"))
        print("node", name, bits(node.get("size")) // 8)
        for field in node.iter("field"):
            print("field", name, field_name(field), *place(node, field))
            for value, number in values(field).items():
                print("value", name, field_name(field), value, number)
    members = {word(f.get("selected_by")): layout(f.get("subnode"))
               for f in nodes["access_reg_summary_ext"]}
    for name, number in values(nodes["access_reg_summary_ctrl_ext"].find("field")).items():
        print("register", name, number, members.pop(name, "-"))
    assert not members, f"registers without id: {members}"


main(sys.argv[1])
