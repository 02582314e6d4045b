"""The check of models, sensors and plants of other packages: ``vds-gz check``."""
