import type { Finding } from './finding.ts';
import { controlGroupsFine, kubeletUnasked, noStalls, oldControlGroups } from './messages.ts';
import type { NodeKernel, UnaskedNode } from './kernel/node-kernels.ts';

type Answer = NodeKernel | UnaskedNode;

/** Nodes with cgroup v1, and those whose kubelets could not be asked. */
export function controlGroupFindings(answers: readonly Answer[]): readonly Finding[] {
  const known = answers.filter(isKernel);
  const old = known.filter(({ cgroupVersion }) => cgroupVersion === 1).flatMap(({ nodes }) => nodes);
  const current = known.filter(({ cgroupVersion }) => cgroupVersion === 2).flatMap(({ nodes }) => nodes);
  const unasked = answers.flatMap((each) => (isKernel(each) ? [] : [each]));
  return [
    ...(old.length > 0 ? [oldControlGroups(old)] : []),
    ...unasked.map(({ node, message }) => kubeletUnasked(node, message)),
    ...(current.length > 0 ? [controlGroupsFine(current.length)] : []),
  ];
}

/** Nodes with cgroup v2 whose kubelets measure no stalls, as far as they report them (Kubernetes 1.34 and newer). */
export function unmeasuredStalls(answers: readonly Answer[]): readonly Finding[] {
  const without = answers.filter(isKernel).filter(({ cgroupVersion, hasStalls }) => {
    return cgroupVersion === 2 && hasStalls === false;
  });
  return without.length === 0 ? [] : [noStalls(without.flatMap(({ nodes }) => nodes))];
}

function isKernel(answer: Answer): answer is NodeKernel {
  return 'nodes' in answer;
}
