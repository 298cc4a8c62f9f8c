import { readFileSync } from 'node:fs';
import type { QosClass } from '#shared/domain/pod/pod-requests.ts';

/** The recorded and derived node trees (test/fixtures/nodes/README.md). */
export const NODE_CASES = [
  'v1-cgroupfs',
  'v1-systemd',
  'v2-cgroupfs',
  'v2-systemd',
  'container-scopes',
  'no-psi',
  'swap-on',
  'hugepages',
] as const;
export type NodeCase = (typeof NODE_CASES)[number];

export interface FixturePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly qos: QosClass;
}

/** Directory that holds `proc`, `sys` and `pods.json` of a case. */
export function nodeRoot(name: NodeCase): string {
  return new URL(`../../fixtures/nodes/${name}`, import.meta.url).pathname;
}

export function fixturePods(name: NodeCase): readonly FixturePod[] {
  return JSON.parse(readFileSync(`${nodeRoot(name)}/pods.json`, 'utf8')) as FixturePod[];
}
