/** The one node of a cluster that has a real one. */
export const NODE_NAME = 'real-node';
/** Its InternalIP. Kubelet and API server refuse addresses of 127/8. */
export const NODE_ADDRESS = '10.254.254.1';
/** Where pods look for the API server: the first address of the service range. It listens there itself, so no kube-proxy is needed. */
export const SERVICE_PLACE = { host: '10.96.0.1', port: 443 } as const;
