"""A layout as edits of the source, and edits onto bytes and files.

In: a layout and a declared array; out: text edits, or the reason why it cannot be written.
Nothing here judges what a layout is worth.
"""
