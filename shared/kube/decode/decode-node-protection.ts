import { DEFAULT_OPT_OUT_CEILING, type NodeProtection } from '#shared/domain/eviction/node-protection.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { readSelector } from './decode-scheduling.ts';
import type { Decoded } from './decoded.ts';
import { readEvictionLimits } from './read-eviction-limits.ts';
import {
  decodeObject,
  readChoice,
  readInteger,
  readObject,
  readText,
  readTexts,
  type WireObject,
} from './wire-object.ts';

const EVERY_NODE = { isEmpty: true, matches: () => true };

/** Reads from a `plimsoll.dev/v1alpha1` NodePressurePolicy what holds for our evictions, and on which nodes. */
export function decodeNodeProtection(raw: unknown): Decoded<NodeProtection> {
  return decodeObject(raw, (object) => ({
    name: readObject(object, 'metadata', (metadata) => readText(metadata, 'name')) ?? '',
    ...(readObject(object, 'spec', readSpec) ?? readSpec({})),
  }));
}

function readSpec(spec: WireObject): Omit<NodeProtection, 'name'> {
  const selector = readSelector(spec, 'nodeSelector');
  return {
    order: readInteger(spec, 'order') ?? 0,
    nodes: selector === undefined ? EVERY_NODE : prepareSelector(selector),
    mode: readChoice(spec, 'mode', ['DryRun', 'Enforce']) ?? 'DryRun',
    limits: readEvictionLimits(spec),
    ...(readObject(spec, 'protect', readProtect) ?? readProtect({})),
  };
}

function readProtect(protect: WireObject): Pick<NodeProtection, 'namespaces' | 'optOutCeiling'> {
  return {
    namespaces: readTexts(protect, 'namespaces'),
    optOutCeiling: readInteger(protect, 'optOutCeiling') ?? DEFAULT_OPT_OUT_CEILING,
  };
}
