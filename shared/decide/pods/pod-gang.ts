import { podName } from '#shared/domain/base/texts.ts';
import { gangKey, groupGangs, type GangMember } from '#shared/domain/gang/gang.ts';
import { hasEnded, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { gangRunOf, gangWishOf } from '#shared/kube/annotations/gangs.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import { gangOfGroup, gangOfPods } from './messages.ts';

/**
 * The gang that a pod names, and how many of its pods are there, by the pods of its namespace; `undefined` without a
 * gang. Which queue they are in is left aside: the leader of the queues says why they wait.
 */
export function podGang(pod: Pod, pods: readonly Pod[]): string | undefined {
  const wish = gangWishOf(pod);
  if (wish === undefined) return undefined;
  if (wish.problem !== undefined) return wish.problem.text;
  const named = pods.filter((each) => each.namespace === pod.namespace && gangWishOf(each)?.name === wish.name);
  const members = named.filter((each) => !hasEnded(each) && each.deletion === undefined).flatMap(memberOf);
  const gang = gangKey(pod.namespace, wish.name);
  if (wish.groupOf !== undefined) return gangOfGroup({ gang, present: members.length, api: wish.groupOf });
  const done = named.filter(({ status, deletion }) => status.phase === 'Succeeded' && deletion === undefined);
  const succeeded = (_: string, run: string): number => done.filter((each) => gangRunOf(each) === run).length;
  const { gangs, refused } = groupGangs(members, { minOf: () => 'Unread', succeeded });
  const contradiction = refused.find((each) => each.members.some(({ uid }) => uid === pod.uid));
  if (contradiction !== undefined) return contradiction.because.text;
  const [found] = gangs;
  const present = found?.members ?? [];
  const placed = present.filter(({ isIn }) => isIn).length;
  return found && gangOfPods({ gang, present: present.length, placed, min: found.min, size: found.size });
}

function memberOf(pod: Pod): readonly GangMember[] {
  const gang = gangWishOf(pod);
  if (gang === undefined) return [];
  const isIn = isBound(pod) || pod.annotations.has(ANNOTATION_ADMITTED);
  return [{ uid: pod.uid, name: podName(pod), queue: '', gang, isIn, run: gangRunOf(pod) }];
}
