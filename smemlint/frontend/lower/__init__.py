"""clang's tree to the IR."""
