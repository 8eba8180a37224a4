"""A promise kept, or withdrawn: edited text through the same analysis, and what makes an edit unsafe.

In: edits and the layout that they promise; out: proved suggestions, or the reason why not.
Nothing here looks for layouts.
"""
