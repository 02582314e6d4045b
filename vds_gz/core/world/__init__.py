"""The world around the vehicle: scenes from SDF worlds and maps, ray casting, collisions, ground and geodesy."""
