"""What a project can be asked and told: one function for each verb, over a Project."""
