import { z } from 'zod';
import type { Resource } from '#shared/kube/resource.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { time } from '#shared/api/schema/fields.ts';

/** A kind of ours as its CustomResourceDefinition shows it. */
export interface KindDefinition {
  readonly resource: Resource;
  readonly columns: readonly Column[];
  /** Fields of the spec by which objects can be listed. */
  readonly selectableFields?: readonly string[];
  /** `spec` and `status`. */
  readonly schema: z.ZodObject;
}

/** A column of `kubectl get`; with priority 1 only of `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: 1;
}

export function column(name: string, type: Column['type'], jsonPath: string, description?: string): Column {
  return { name, type, jsonPath, ...(description !== undefined && { description }) };
}

export function wideColumn(...of: Parameters<typeof column>): Column {
  return { ...column(...of), priority: 1 };
}

export const READY = column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status');
export const AGE = column('Age', 'date', '.metadata.creationTimestamp');

/** The generation of an object. */
export function generation() {
  return described(z.int().min(0), undefined, { format: 'int64' });
}

/** The conditions of a status. */
export function conditions(description = 'Current conditions, one entry per type.', max = 16) {
  const condition = z.object({
    type: z.string().max(316),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.string().min(1).max(1_024),
    message: z.string().max(32_768),
    lastTransitionTime: time(),
    observedGeneration: generation().optional(),
  });
  return described(z.array(condition).max(max), description, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });
}
