"""Models, for those who want one: asked only within a daily ceiling that is zero until the user raises it."""
