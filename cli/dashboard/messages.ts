/*
 * Every sentence of `plimsoll dashboard`, to be read from top to bottom.
 */

export function forwarding(port: number, namespace: string): string {
  return `Forwarding 127.0.0.1:${port} to the dashboard in namespace ${namespace} until interrupted; open`;
}

export function noReadyPod(namespace: string): string {
  return (
    `no ready pod of the controller with the dashboard in namespace ${namespace}: see that it is installed ` +
    `(kubectl -n ${namespace} get deployments plimsoll-controller; docs/guides/dashboard.md)`
  );
}

export const NO_TOKEN =
  'your kubeconfig has no token that the dashboard could take: name an account with --service-account NAMESPACE/NAME';

export function notAnAccount(text: string): string {
  return `expected --service-account NAMESPACE/NAME, got ${text}`;
}

export function cannotCreateToken(account: string, cause: string): string {
  return `cannot create a token for service account ${account}: ${cause}`;
}

export function cannotListPods(namespace: string, cause: string): string {
  return `cannot list pods in namespace ${namespace}: ${cause}`;
}

export function cannotListen(port: number, cause: string): string {
  return `cannot listen on 127.0.0.1:${port}: ${cause}; choose another port with --port`;
}

export function connectionFailed(cause: string): string {
  return `error: cannot connect to the dashboard: ${cause}`;
}
