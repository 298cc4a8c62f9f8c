import { join } from 'node:path';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import type { ControlPlane } from '#test/cluster/support/control-plane/control-plane.ts';
import { findNodePrograms, type NodePrograms } from './node-programs.ts';
import { packPlimsollImage } from '#test/cluster/node/image/plimsoll-image.ts';
import { startContainerd } from './start-containerd.ts';
import { startKubelet } from './start-kubelet.ts';
import { packWorkloadImage } from '#test/cluster/node/image/workload-image.ts';

/**
 * Joins this machine to a control plane as its node, in the present namespaces, with the images of tests, and waits until
 * it takes pods. Rejects with the log of what did not come up; the owner of the run's folder ends what is running.
 */
export async function startNode(
  folder: string,
  plane: Pick<ControlPlane, 'kubeconfig' | 'credentials'>,
): Promise<ReadonlyMap<string, Component>> {
  const programs = neededPrograms();
  const images = await packNodeImages(programs, folder);
  const containerd = await startContainerd({ folder, programs, images });
  const kubelet = await startKubelet({ folder, programs, plane, containerdSocket: containerd.socket });
  return new Map([
    ['containerd', containerd.component],
    ['kubelet', kubelet],
  ]);
}

/** Throws the reason when something is missing. */
export function neededPrograms(): NodePrograms {
  const programs = findNodePrograms(process.env);
  if (programs.kind === 'missing') throw new Error(`cannot start a node: ${programs.because}`);
  return programs;
}

/** The archives that tests need on a node, made in the run's folder. */
export async function packNodeImages({ paths }: NodePrograms, folder: string): Promise<readonly string[]> {
  return [
    await packWorkloadImage(paths.workload, join(folder, 'workload')),
    await packPlimsollImage(join(folder, 'plimsoll')),
  ];
}
