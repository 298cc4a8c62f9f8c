import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { bracketed } from '#shared/runtime/host-port.ts';
import { nodeHttp, readBytes } from '#shared/runtime/read-bytes.ts';

/** Address and credentials for the kubelet's `/stats/summary`; requires the permission `get nodes/stats` only. */
export interface KubeletAddress {
  /** `https://NODE_IP:10250`, or plain http on loopback. */
  readonly url: string;
  readonly token: (() => Promise<string>) | undefined;
  /** Called before every request, because the file may be replaced. PEM; the system's CAs if undefined. */
  readonly ca: (() => string) | undefined;
  /** A kubelet often serves a self-signed certificate; the operator then sets this. */
  readonly skipTlsVerify: boolean;
}

/** 500 pods take about 2 MiB; a larger answer does not come from a kubelet. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Reads the summary once as parsed JSON; rejects with the cause. */
export async function fetchKubeletSummary(kubelet: KubeletAddress, signal: AbortSignal): Promise<unknown> {
  const token = await kubelet.token?.();
  const options: RequestOptions = {
    signal,
    headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    rejectUnauthorized: !kubelet.skipTlsVerify,
  };
  if (kubelet.ca !== undefined) options.ca = kubelet.ca();
  const response = await send(`${kubelet.url}/stats/summary`, options);
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`the kubelet answered with HTTP status ${response.statusCode ?? 0}, expected 200`);
  }
  const body = await readBytes(response, MAX_BYTES, "the kubelet's answer");
  return JSON.parse(body.toString('utf8'));
}

function send(url: string, options: RequestOptions): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? httpsRequest : nodeHttp.request;
  return new Promise((resolve, reject) => {
    request(url, options, resolve).on('error', reject).end();
  });
}

/** A URL whose host may be an IPv6 address without brackets; one with brackets does not match. */
const PARTS = /^(?<scheme>https?:\/\/)(?<host>[^/[\]]+?)(?<port>:\d+)?(?<path>\/.*)?$/;

/**
 * The kubelet's base URL without a trailing slash. Manifests use `https://$(NODE_IP):10250`, which on an IPv6 node is a
 * valid URL only after the address gets brackets; the part after the last colon is the port.
 */
export function kubeletUrl(text: string): string {
  const { scheme = '', host, port = '', path = '' } = PARTS.exec(text)?.groups ?? {};
  if (host === undefined) return withoutSlash(text);
  const authority = isIPv6(host) ? `${bracketed(host)}${port}` : bracketed(`${host}${port}`);
  return withoutSlash(`${scheme}${authority}${path}`);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
