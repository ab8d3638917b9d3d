"""How converted names are spelled, and which imports they need. Imports `plan.sites` and below."""
