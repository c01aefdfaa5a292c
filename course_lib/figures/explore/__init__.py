"""Figures to play with: banks, sectors, roofs, occupancy, fragments, schedules, thread tiles."""
