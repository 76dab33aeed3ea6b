/** Stands for the whole installation in columns with tenants' ids: no tenant has this id. */
export const INSTALLATION = '';
