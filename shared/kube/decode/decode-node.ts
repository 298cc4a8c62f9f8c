import { NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { Node, Taint } from '#shared/domain/snapshot/node.ts';
import type { Decoded } from './decoded.ts';
import type { WireObject } from './wire-object.ts';
import {
  decodeObject,
  readAmounts,
  readBoolean,
  readList,
  readObject,
  readPart,
  readText,
  readTextMap,
} from './wire-object.ts';

/** Reads the wire form of a `v1` Node. Unknown fields are passed over, absent ones are empty. */
export function decodeNode(raw: unknown): Decoded<Node> {
  return decodeObject(raw, (node) => ({
    ...readPart(node, 'metadata', readMetadata),
    ...readPart(node, 'spec', readSpec),
    allocatable: readObject(node, 'status', (status) => readAmounts(status, 'allocatable')) ?? NO_AMOUNTS,
  }));
}

function readMetadata(metadata: WireObject): Pick<Node, 'name' | 'uid' | 'labels'> {
  return {
    name: readText(metadata, 'name') ?? '',
    uid: readText(metadata, 'uid') ?? '',
    labels: readTextMap(metadata, 'labels'),
  };
}

function readSpec(spec: WireObject): Pick<Node, 'taints' | 'isUnschedulable'> {
  return { taints: readList(spec, 'taints', readTaint), isUnschedulable: readBoolean(spec, 'unschedulable') };
}

function readTaint(taint: WireObject): Taint {
  return {
    key: readText(taint, 'key') ?? '',
    value: readText(taint, 'value') ?? '',
    effect: readText(taint, 'effect') ?? '',
  };
}
