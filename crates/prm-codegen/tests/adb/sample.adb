<?xml version="1.0" encoding="UTF-8"?>
<!-- A made-up database of lamps. It has every construct that the importer reads, and <tags> that
     are none. -->
<NodesDefinition>
<config field_mand="name, descr, size" />
<config field_attr="access" type="enum" >
	<enum name="ReadOnly" value="RO" />
	<enum name="ReadWrite" value="RW" />
</config>
<config big_endian_arr="1" />
<info source_doc_name="Lamps &lt;all of them&gt;" source_doc_version="Rev 1" />
<node name="lamp_color_ext" descr="" size="0x4.0" >
	<field name="red" descr="How red" access="RW" offset="0x0.24" size="0x0.8" />
	<field name="green" descr="How green" access="RW" offset="0x0.16" size="0x0.8" />
	<field name="lit" descr="On or off, a > b" access="RO" offset="0x0.0" size="0x0.1" />
</node>

<node name="LAMP_reg_ext" descr="" size="0x5c.0" >
	<field name="serial" descr="" access="RO" offset="0x28.0" size="0x8.0" subnode="uint64" enum="none=0x0,last=0xffffffffffffffff" />
	<field name="slot" descr="" access="INDEX" offset="0x0.16" size="0x0.8" />
	<field name="Mode" descr="" access="RW" offset="0x0.0" size="0x0.4" enum="off=0x0,on=1, dim-slow =0x2,half dim=0x2,on=0x1" />
	<field name="start" descr="" access="OP" offset="0x0.31" size="0x0.1" />
	<field name="key" descr="" access="WO" offset="0x4" size="0x4" />
	<field name="reserved_7" descr="" access="RO" offset="0x0.24" size="0x0.7" />
	<field name="rsvd" descr="" offset="0x0.4" size="0x0.4" />
	<field name="shades" descr="" access="RW" offset="0x8.24" size="0x6.0" low_bound="0" high_bound="5" />
	<field name="steps" descr="" access="RW" offset="0x10.28" size="0x2.0" low_bound="0" high_bound="3" enum="up=0x1,down=0xf" />
	<field name="words" descr="" access="RW" offset="0x10.0" size="0x6.0" low_bound="1" high_bound="3" />
	<field name="dwords" descr="" access="RO" offset="0x18.0" size="0x8.0" low_bound="0" high_bound="1" />
	<field name="colors" descr="" offset="0x20.0" size="0x8.0" low_bound="0" high_bound="1" subnode="lamp_color_ext" />
	<field name="serials" descr="" access="RO" offset="0x30.0" size="0x10.0" low_bound="0" high_bound="1" subnode="uint64" />
	<field name="single" descr="" access="RO" offset="0x40.0" size="0x4.0" low_bound="0" high_bound="0" />
	<field name="volts" descr="" access="RO" offset="0x44.8" size="0x0.16" />
	<field name="amperes" descr="" access="RO" offset="0x44.8" size="0x0.16" />
	<field name="heat" descr="" access="RO" offset="0x48.0" size="0x0.24" condition="$(parent).Mode == on   AND
		$(parent).slot" />
	<field name="lamp_color_ext" descr="" offset="0x4c.0" size="0x4.0" subnode="lamp_color_ext" />
	<field name="look" descr="" offset="0x50.0" size="0x4.0" subnode="lamp_look_auto_ext" union_selector="$(parent).Mode" />
	<field name="page" descr="" offset="0x54.0" size="0x8.0" subnode="lamp_page_auto_ext" condition="$(parent).Mode AND $(parent).slot" />
</node>
<node name="lamp_look_auto_ext" descr="" size="0x4.0" attr_is_union="1" >
	<field name="lamp_color_ext" descr="" offset="0x0.0" size="0x4.0" subnode="lamp_color_ext" selected_by="on" />
	<field name="dimmed" descr="" access="RW" offset="0x0.0" size="0x4.0" selected_by="dim-slow" />
	<field name="plain" descr="" access="RW" offset="0x0.24" size="0x0.8" />
</node>
<node name="lamp_page_auto_ext" descr="" size="0x8.0" attr_is_union="1" is_conditional="1" >
	<field name="dark" descr="" offset="0x0.0" size="0x8.0" condition="($(parent).Mode == off) | ($(parent).slot ==Slot_1)" />
	<field name="lit" descr="" offset="0x0.0" size="0x4.0" />
</node>
<node name="lamp_bulbs_ext" descr="" size="0xc.0" attr_is_union="0" >
	<field name="number" descr="" access="RO" offset="0x4.0" size="0x4.0" />
	<field name="bulb" descr="" offset="0x8.0" size="0x4.0" low_bound="0" high_bound="VARIABLE" subnode="lamp_color_ext" />
</node>
<node name="lamp_trace_ext" descr="" size="0x8.0" >
	<field name="read_size" descr="" access="RW" offset="0x0.0" size="0x0.16" />
	<field name="data" descr="" access="RO" offset="0x4.0" size="0x4.0" low_bound="0" high_bound="VARIABLE" arr_is_dynamic="1" size_condition="$(parent).read_size" />
	<field name="late" descr="" access="RO" offset="0x0.16" size="0x0.16" />
</node>
<node name="uint64" descr="" size="0x8.0" >
	<field name="hi" descr="" offset="0x0.0" size="0x4.0" />
	<field name="lo" descr="" offset="0x4.0" size="0x4.0" />
</node>
<node name="enum_entry" descr="" size="0x4.0" >
</node>
<node name="access_reg_summary_ctrl_ext" descr="" size="0x4.0" attr_is_union="1" >
	<field name="id" descr="" offset="0x0.0" size="0x4.0" subnode="enum_entry" enum="LTRC=0x7104,LAMP=0x7100,L-BULBS=0x7102,LDARK=0x7103" />
</node>
<node name="access_reg_summary_ext" descr="" size="0x60" attr_is_union="1" >
	<field name="LAMP_reg" descr="" offset="0x0.0" size="0x5c.0" subnode="LAMP_reg_ext" selected_by="LAMP" capability="0" />
	<field name="lamp_bulbs" descr="" offset="0x0.0" size="0xc.0" subnode="lamp_bulbs_ext" selected_by="L-BULBS" capability="0" />
	<field name="lamp_trace" descr="" offset="0x0.0" size="0x8.0" subnode="lamp_trace_ext" selected_by="LTRC" capability="0" />
</node>
<node name="access_reg_summary_selector_ext" descr="" size="0x60" attr_is_union="1" >
	<field name="access_reg_summary" descr="" offset="0x0.0" size="0x60" subnode="access_reg_summary_ext" union_selector="$(parent).ctrl.id" />
	<field name="ctrl" descr="" offset="0x0.0" size="0x4.0" subnode="access_reg_summary_ctrl_ext" />
</node>
<node name="register_access_table_lamp_Nodes" descr="" size="0x60.0" attr_is_union="1" >
	<field name="access_reg_summary_selector_ext" descr="" offset="0x0.0" size="0x60.0" subnode="access_reg_summary_selector_ext" />
</node>
<node name="root" descr="" size="0x60.0" >
	<field name="register_access_table_lamp_Nodes" descr="" offset="0x0.0" size="0x60.0" subnode="register_access_table_lamp_Nodes" />
</node>
</NodesDefinition>
