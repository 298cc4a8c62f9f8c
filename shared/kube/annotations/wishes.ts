import { ANNOTATION_EVICT, FOREIGN_PREFER_NO_EVICTION } from '#shared/kube/api-names.ts';

/** An annotation by which the owner of a pod asks other programs not to remove it, and the values that mean it. */
interface Wish {
  readonly annotation: string;
  readonly isMeant: (value: string) => boolean;
}

/**
 * The wishes of pods that are meant for other programs and say the same. A tenant may write all of them, so none is more
 * than a wish: the agent and reclaim take such a pod last, the rescheduler, whose moves are optional, not at all.
 */
const FOREIGN_WISHES: readonly Wish[] = [
  // The descheduler looks for the annotation alone.
  { annotation: FOREIGN_PREFER_NO_EVICTION, isMeant: () => true },
  { annotation: 'cluster-autoscaler.kubernetes.io/safe-to-evict', isMeant: (value) => value === 'false' },
  // The values besides true are times for which Karpenter waits.
  { annotation: 'karpenter.sh/do-not-disrupt', isMeant: (value) => value !== '' && value !== 'false' },
  { annotation: 'karpenter.sh/do-not-evict', isMeant: (value) => value === 'true' },
];

/** The annotations that say whether a pod asks to stay. */
export const WISH_ANNOTATIONS: readonly string[] = [
  ANNOTATION_EVICT,
  ...FOREIGN_WISHES.map(({ annotation }) => annotation),
];

/** Whether a pod asks some other program not to remove it. */
export function hasForeignWish(annotations: ReadonlyMap<string, string>): boolean {
  if (annotations.size === 0) return false;
  return FOREIGN_WISHES.some(({ annotation, isMeant }) => {
    const value = annotations.get(annotation);
    return value !== undefined && isMeant(value);
  });
}
