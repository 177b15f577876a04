"""Lustre: stripes, OSTs, rates and the advice that follows."""
