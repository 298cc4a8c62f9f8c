import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

/** One column of what `kubectl get` prints. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: '' | 'name';
  /** Above 0: only with `-o wide`. */
  readonly priority: number;
  readonly description: string;
  readonly read: (object: KubeObject, now: number) => Cell;
}

/** What a cell may hold. */
export type Cell = string | number | boolean | null;
