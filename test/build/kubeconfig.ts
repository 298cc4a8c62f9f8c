/** A kubeconfig, as JSON, which is YAML: one cluster, and one user who shows a token, a certificate or a program. */
export function buildKubeconfig({ server, ca = '' }: { server: string; ca?: string }, user: object): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}
