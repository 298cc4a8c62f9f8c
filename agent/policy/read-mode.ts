import { readChoice, type WireObject } from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './mode.ts';

/** `mode` of a policy or of one part of it; DryRun unless it is set. */
export function readMode(object: WireObject): Mode {
  return readChoice(object, 'mode', ['DryRun', 'Enforce']) ?? 'DryRun';
}
