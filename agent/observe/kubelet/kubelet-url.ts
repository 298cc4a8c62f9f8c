import { isIPv6 } from 'node:net';

/** A URL whose host may be an IPv6 address without brackets; one with brackets does not match. */
const PARTS = /^(?<scheme>https?:\/\/)(?<host>[^/[\]]+?)(?<port>:\d+)?(?<path>\/.*)?$/;

/**
 * The kubelet's base URL without a trailing slash. Manifests use `https://$(NODE_IP):10250`, which on an IPv6 node is a
 * valid URL only after the address gets brackets; the part after the last colon is the port.
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
