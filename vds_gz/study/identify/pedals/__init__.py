"""What the fit of pedals' maps is made of: the record on even times, its noise, the cells, the times, the intervals."""
