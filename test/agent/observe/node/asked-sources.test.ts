import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { readFilesystem } from '#agent/observe/node/kernel-node.ts';
import { fetchKubeletSummary } from '#agent/observe/kubelet/kubelet-summary.ts';
import { meminfoSource } from '#agent/observe/node/kernel-memory.ts';
import { askNodeOsUtils, askSysteminformation } from '#agent/observe/node/second-opinions.ts';

let server: Server | undefined;
afterEach(() => server?.close());
const never = new AbortController().signal;

async function kubelet(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function address(url: string) {
  return { url, token: () => Promise.resolve('secret'), ca: undefined, skipTlsVerify: false };
}

describe('fetchKubeletSummary', () => {
  test('asks for the summary with the token and parses it', async () => {
    const url = await kubelet((request, response) => {
      response.end(JSON.stringify({ path: request.url, as: request.headers.authorization }));
    });
    expect(await fetchKubeletSummary(address(url), never)).toEqual({ path: '/stats/summary', as: 'Bearer secret' });
  });

  test('a refusal is reported', async () => {
    const url = await kubelet((_request, response) => response.writeHead(403).end('no'));
    await expect(fetchKubeletSummary(address(url), never)).rejects.toThrow(
      'the kubelet answered with HTTP status 403, expected 200',
    );
  });

  test('a hanging kubelet is abandoned when the signal aborts', async () => {
    const url = await kubelet(() => undefined);
    await expect(fetchKubeletSummary(address(url), AbortSignal.timeout(50))).rejects.toThrow('aborted');
  });

  test('an answer cut off in the middle is an error', async () => {
    const url = await kubelet((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"node":');
      response.destroy();
    });
    await expect(fetchKubeletSummary(address(url), never)).rejects.toThrow();
  });
});

describe('readFilesystem', () => {
  test('gives bytes and inodes of the disk', async () => {
    const room = await readFilesystem('/');
    expect(room.capacityBytes).toBeGreaterThan(room.availableBytes);
    expect(room.inodes).toBeGreaterThanOrEqual(room.inodesFree);
  });

  test('a path that is not there rejects', async () => {
    await expect(readFilesystem('/no/such/path')).rejects.toThrow('ENOENT');
  });
});

describe('second opinions', () => {
  test.each([
    ['systeminformation', askSysteminformation],
    ['node-os-utils', askNodeOsUtils],
  ])('%s sees the same total as /proc/meminfo', async (_name, ask) => {
    const meminfo = meminfoSource('/proc');
    const own = meminfo.read();
    meminfo.close();
    if (own.kind !== 'reading') throw new Error(own.because);
    const opinion = await ask();
    expect(opinion.totalBytes).toBe(own.value.totalBytes);
    expect(opinion.availableBytes).toBeGreaterThan(0);
  });
});
