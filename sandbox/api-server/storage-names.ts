/** Names of collections that the server itself reads: plural and group. */
export const NAMESPACES = 'namespaces.';
export const RESOURCE_QUOTAS = 'resourcequotas.';
export const BUDGETS = 'poddisruptionbudgets.policy';
export const PRIORITY_CLASSES = 'priorityclasses.scheduling.k8s.io';
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
export const EVENTS = 'events';
