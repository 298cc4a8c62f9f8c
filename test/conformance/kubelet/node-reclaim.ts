import type { DiskLayout, Signal } from '#shared/domain/pressure/signal.ts';

/** What a node can throw away before it takes pods: dead containers, unused images. */
export type NodeReclaim = 'containers' | 'images';

const NOTHING: readonly NodeReclaim[] = [];
const BOTH: readonly NodeReclaim[] = ['containers', 'images'];

const STEPS: Readonly<Record<DiskLayout, Readonly<Record<string, readonly NodeReclaim[]>>>> = {
  single: { nodefs: BOTH, imagefs: BOTH, containerfs: BOTH },
  imagesAndLayersApart: { nodefs: NOTHING, imagefs: BOTH, containerfs: BOTH },
  imagesApart: { nodefs: ['containers'], imagefs: ['images'], containerfs: ['containers'] },
};

/** What is thrown away for a signal, in this order (`buildSignalToNodeReclaimFuncs` in `pkg/kubelet/eviction/helpers.go`). */
export function nodeReclaimFor(signal: Signal, layout: DiskLayout): readonly NodeReclaim[] {
  const [filesystem = ''] = signal.split('.', 1);
  return STEPS[layout][filesystem] ?? NOTHING;
}
