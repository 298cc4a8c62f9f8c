import { BlockList, isIP } from 'node:net';

/** The proxy that the environment names for a server, if any (Go's `httpproxy.FromEnvironment`). */
export function proxyOf(server: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const proxy = variable(env, 'HTTPS_PROXY');
  const target = URL.canParse(server) ? new URL(server) : undefined;
  if (proxy === '' || target?.protocol !== 'https:' || isLoopback(target.hostname)) return undefined;
  const exceptions = variable(env, 'NO_PROXY')
    .split(',')
    .map((each) => each.trim().toLowerCase());
  if (exceptions.some((exception) => isExcepted(target, exception))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return env[name] ?? env[name.toLowerCase()] ?? '';
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** `*`, a host with or without its port, a domain with or without its leading dot, or a range of addresses. */
function isExcepted({ hostname, port }: URL, exception: string): boolean {
  if (exception === '' || exception === '*') return exception === '*';
  if (exception.includes('/')) return isInRange(hostname.replace(/^\[|\]$/g, ''), exception);
  const [host = '', ofPort] = exception.split(/:(?=\d+$)/);
  return (ofPort ?? portOf(port)) === portOf(port) && isWithin(hostname, host);
}

/** A URL leaves the port of its scheme out. */
function portOf(port: string): string {
  return port === '' ? '443' : port;
}

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(domain.startsWith('.') ? domain : `.${domain}`);
}

/** Families by what `isIP` says, with the longest prefix of each. */
const FAMILIES: ReadonlyMap<number, readonly ['ipv4' | 'ipv6', number]> = new Map([
  [4, ['ipv4', 32]],
  [6, ['ipv6', 128]],
]);

function isInRange(address: string, range: string): boolean {
  const [network = '', prefix = ''] = range.split('/');
  const [family, longest] = FAMILIES.get(isIP(network)) ?? [];
  if (family === undefined || longest === undefined || isIP(address) !== isIP(network)) return false;
  if (!/^\d+$/.test(prefix) || Number(prefix) > longest) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(address, family);
}
