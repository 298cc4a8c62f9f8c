import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { SoakNode, SoakPod } from './soak-node.ts';

export type Random = () => number;

/** Something that happens on the node for a while. */
export interface Episode {
  readonly kind: string;
  readonly lastsMs: number;
  /** Whether the kernel's OOM killer must not come, as the agent has time and a pod to evict. */
  readonly mustBeCaught: boolean;
  readonly isApiFaulty: boolean;
  readonly stop: () => void;
}

type Start = (node: SoakNode, culprit: SoakPod, random: Random) => Partial<Episode>;

function between(random: Random, least: number, most: number): number {
  return least + random() * (most - least);
}

/** Slow ones are as frequent as fast ones. */
function rate(random: Random, least: number, most: number): number {
  return Math.exp(between(random, Math.log(least), Math.log(most)));
}

const KINDS: Readonly<Record<string, Start>> = {
  leak: (_node, culprit, random) => {
    culprit.growsMiB = rate(random, 10, 250);
    return { mustBeCaught: true };
  },
  'leak beside page cache': (node, culprit, random) => {
    culprit.growsMiB = rate(random, 10, 250);
    for (const pod of node.pods.slice(0, 3)) if (pod !== culprit) pod.cacheMiB = 3000;
    return { mustBeCaught: true };
  },
  'leak while others end slowly': (node, culprit, random) => {
    culprit.growsMiB = rate(random, 10, 250);
    const other = node.present().find((pod) => pod !== culprit && pod.deletionMs === undefined);
    if (other !== undefined) node.end(other, 600, between(random, 1000, 500_000));
    return { mustBeCaught: true };
  },
  'leak while the API server fails': (_node, culprit, random) => {
    culprit.growsMiB = rate(random, 10, 100);
    return { isApiFaulty: true };
  },
  'page cache': (_node, culprit) => {
    culprit.cacheMiB = 10_000;
    return {};
  },
  sockets: (_node, culprit, random) => {
    culprit.heldGrowsMiB = rate(random, 10, 100);
    return {};
  },
  // Not so deep that memory is nearly gone (125 MiB) while another pod starts.
  dip: (node, culprit, random) => {
    const takenMiB = node.left().memAvailableMiB - between(random, 180, 240);
    culprit.anonMiB += takenMiB;
    return {
      lastsMs: between(random, 100, 900),
      stop: () => void (culprit.anonMiB = Math.max(0, culprit.anonMiB - takenMiB)),
    };
  },
  thrash: (node) => {
    node.isThrashing = true;
    return {};
  },
};

export const EPISODES: readonly string[] = Object.keys(KINDS);

/** Begins a random episode; what it changed is as before once it is stopped. */
export function beginEpisode(node: SoakNode, culprits: readonly SoakPod[], random: Random): Episode {
  const [kind, start] = Object.entries(KINDS)[Math.floor(random() * EPISODES.length)] as [string, Start];
  const culprit = culprits[Math.floor(random() * culprits.length)] as SoakPod;
  const stop = (): void => {
    node.isThrashing = false;
    for (const pod of node.pods) Object.assign(pod, { cacheMiB: 0, heldMiB: 0, growsMiB: 0, heldGrowsMiB: 0 });
    for (const pod of node.pods) pod.anonMiB = Math.min(pod.anonMiB, pod.usualMiB);
  };
  const usual = { lastsMs: between(random, 1, 8) * MINUTE_MS, mustBeCaught: false, isApiFaulty: false, stop };
  return { kind, ...usual, ...start(node, culprit, random) };
}
