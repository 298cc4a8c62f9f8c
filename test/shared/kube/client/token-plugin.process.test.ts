import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';

const KUBECONFIG = `
apiVersion: v1
kind: Config
clusters:
- {name: one, cluster: {server: 'https://one:6443'}}
users:
- {name: exec, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: ['-c', 'echo "{\\"status\\":{\\"token\\":\\"fresh\\"}}"']}}}
contexts:
- {name: plugin, context: {cluster: one, user: exec}}
current-context: plugin
`;

test('a kubeconfig takes the token that a plugin prints', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plimsoll-plugin-'));
  writeFileSync(join(directory, 'config'), KUBECONFIG);
  const { token } = await kubeconfigConnection(join(directory, 'config'));
  expect(await token?.()).toBe('fresh');
  rmSync(directory, { recursive: true });
});
