import { fileURLToPath } from 'node:url';
import type { ClusterOptions } from '#test/cluster/support/control-plane/cluster.ts';

const CLUSTER = fileURLToPath(new URL('../control-plane/cluster.ts', import.meta.url));

/** Arguments of a Node that starts a cluster, says its folder in a line, and then waits to be killed. */
export function killableRun(options: ClusterOptions = {}): string[] {
  const script = `
    const { startCluster } = await import(${JSON.stringify(CLUSTER)});
    const { cluster } = await startCluster(${JSON.stringify(options)});
    process.stdout.write(cluster.folder + '\\n');
    setInterval(() => undefined, 1000);
  `;
  return ['--input-type=module', '-e', script];
}
