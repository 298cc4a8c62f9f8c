import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';

const SCRIPT = fileURLToPath(new URL('./support/on-loopback-6.ts', import.meta.url));
const LOOPBACK_6 = 'ip link set lo up && ip address delete 127.0.0.1/8 dev lo && exec "$0" "$1"';
const PATIENCE_MS = 600_000;
const why = whyNoOwnCluster(process.env) ?? (process.getuid?.() === 0 ? undefined : ' (not run: needs root)');

describe.skipIf(why !== undefined)(`a machine whose only address is ::1${why ?? ''}`, () => {
  test(
    'every process starts as by default, is reached, and reaches the others',
    async () => {
      const command = ['--net', 'sh', '-c', LOOPBACK_6, process.execPath, SCRIPT];
      const env = { ...process.env, PLIMSOLL_TEST_LOOPBACK: '::1' };
      const { stdout } = await promisify(execFile)('unshare', command, { env });
      const found: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      expect(found).toEqual({
        apiServer: 'https://[::1]',
        refusal: expect.stringContaining('exceeded quota: none-left') as unknown,
        placedOn: 'node-0',
        memory: 'Far',
      });
    },
    PATIENCE_MS,
  );
});
