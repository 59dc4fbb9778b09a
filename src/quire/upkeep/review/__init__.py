"""Review a change: compare two trees, and tell people, forges and programs what that means for the records."""
