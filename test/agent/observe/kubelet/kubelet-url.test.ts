import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { kubeletUrl } from '#agent/observe/kubelet/kubelet-summary.ts';
import { askSummary } from '#agent/observe/kubelet/summary-node.ts';
import { wireSummary } from '#test/agent/wire-node.ts';

test.each<[text: string, expected: string]>([
  ['https://10.0.0.7:10250', 'https://10.0.0.7:10250'],
  ['https://node-7.example:10250/', 'https://node-7.example:10250'],
  ['https://fd00::7:10250', 'https://[fd00::7]:10250'],
  ['https://2001:db8:0:0:0:0:0:7:10250', 'https://[2001:db8:0:0:0:0:0:7]:10250'],
  ['https://::ffff:10.0.0.7:10250', 'https://[::ffff:10.0.0.7]:10250'],
  ['https://[fd00::7]:10250/', 'https://[fd00::7]:10250'],
  ['http://::1:10255/', 'http://[::1]:10255'],
  ['https://fd00::7', 'https://[fd00::7]'],
])('%s is reached at %s', (text, expected) => {
  expect(kubeletUrl(text)).toBe(expected);
  expect(URL.canParse(expected)).toBe(true);
});

const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));

test.skipIf(!hasIpv6)('a kubelet with an IPv6 address answers (not run where there is no IPv6 loopback)', async () => {
  const server = createServer((_request, response) => response.end(JSON.stringify(wireSummary(100, 1000, {}))));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
  const { port } = server.address() as AddressInfo;
  const address = { url: kubeletUrl(`http://::1:${port}`), token: undefined, ca: undefined, skipTlsVerify: false };
  const { summary } = await askSummary(address, AbortSignal.timeout(5000));
  expect(summary.readings.memory?.availableBytes).toBe(100 * 1024 * 1024);
});
