/** What stands for the whole installation in columns of tenants' ids: no tenant has this id. */
export const INSTALLATION = '';
