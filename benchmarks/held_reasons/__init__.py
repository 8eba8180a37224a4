"""What smemlint says of arrays without an edit, held against the text, the traces and all layouts.

Nothing of the search or of the edits takes part.
"""
