"""What a job trace says: as a simulated scheduler's answer, its figures and tables, its own rules, and what changes would do."""
