<?xml version="1.0" encoding="UTF-8"?>
<!-- Registers of lamps. They are made up. -->
<NodesDefinition>
<config big_endian_arr="1" />
<node name="lamp_reg_ext" size="0xc.0" descr="">
	<field name="slot" offset="0x0.24" size="0x0.8" access="INDEX" descr="" />
	<field name="watt" offset="0x4.0" size="0x4.0" access="RO" descr="" />
	<field name="late" offset="0x8.0" size="0x0.4" access="RW" enum="no=0x0,yes=0x1" descr="" />
</node>
<node name="enum_entry" size="0x4.0" descr="">
</node>
<node name="access_reg_summary_ctrl_ext" size="0x4.0" attr_is_union="1" descr="">
	<field name="id" offset="0x0.0" size="0x4.0" subnode="enum_entry" enum="LAMP=0x4001" descr="" />
</node>
<node name="access_reg_summary_ext" size="0xc.0" attr_is_union="1" descr="">
	<field name="lamp_reg_ext" offset="0x0.0" size="0xc.0" subnode="lamp_reg_ext" selected_by="LAMP" descr="" />
</node>
<node name="access_reg_summary_selector_ext" size="0xc.0" attr_is_union="1" descr="">
	<field name="access_reg_summary" offset="0x0.0" size="0xc.0" subnode="access_reg_summary_ext" union_selector="$(parent).ctrl.id" descr="" />
	<field name="ctrl" offset="0x0.0" size="0x4.0" subnode="access_reg_summary_ctrl_ext" descr="" />
</node>
<node name="lamps_Nodes" size="0xc.0" attr_is_union="1" descr="">
	<field name="access_reg_summary_selector_ext" offset="0x0.0" size="0xc.0" subnode="access_reg_summary_selector_ext" descr="" />
</node>
<node name="root" size="0xc.0" descr="">
	<field name="lamps_Nodes" offset="0x0.0" size="0xc.0" subnode="lamps_Nodes" descr="" />
</node>
</NodesDefinition>
