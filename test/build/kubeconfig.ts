/** A kubeconfig, as JSON, which is YAML: one cluster, its CA as data or as a file, and one user who shows a token, a certificate or a program. */
export function buildKubeconfig(
  { server, ca = '', caFile }: { server: string; ca?: string; caFile?: string },
  user: object,
): string {
  const data = { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const cluster = { server, ...(caFile === undefined ? data : { 'certificate-authority': caFile }) };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}
