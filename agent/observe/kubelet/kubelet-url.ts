import { isIPv6 } from 'node:net';

/** A URL whose host may be an IPv6 address without its brackets; one that has them does not match. */
const PARTS = /^(?<scheme>https?:\/\/)(?<host>[^/[\]]+?)(?<port>:\d+)?(?<path>\/.*)?$/;

/**
 * The kubelet's base URL without a slash at its end. A manifest writes `https://$(NODE_IP):10250`, which is no URL on a
 * node with an IPv6 address until the address has its brackets; what follows the last colon counts as the port.
 */
export function kubeletUrl(text: string): string {
  const { scheme = '', host = '', port = '', path = '' } = PARTS.exec(text)?.groups ?? {};
  return withoutSlash(isIPv6(host) ? `${scheme}[${host}]${port}${path}` : withBrackets(text, host + port));
}

function withBrackets(text: string, address: string): string {
  return isIPv6(address) ? text.replace(address, `[${address}]`) : text;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
