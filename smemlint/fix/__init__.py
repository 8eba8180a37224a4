"""What would cost less: other layouts of a shared array, as edits that are proved before they are offered.

In: analyses of kernels (`score`) and the text of their files; out: Suggestions, and edited files in memory.
Nothing here is imported by the stages before it, and only `apply.replace_file` writes to the disk.
"""
