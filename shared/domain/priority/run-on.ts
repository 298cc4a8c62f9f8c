/**
 * The room that a policy gives to pods: what they request of the node, or what nodes lend of requests that are not used
 * (spare room). `Either` leaves the choice to the pod.
 */
export interface RunOn {
  readonly room: 'Requested' | 'Spare' | 'Either';
  /** Classes whose pods this concerns; `undefined` for all. */
  readonly classNames: readonly string[] | undefined;
}

export const ON_REQUESTED_ROOM: RunOn = { room: 'Requested', classNames: undefined };

/** What it says of spare room in a list of what a policy allows. */
export function roomTexts({ room, classNames }: RunOn): readonly string[] {
  if (room === 'Requested') return [];
  const which = classNames === undefined ? '' : `: ${classNames.join(', ')}`;
  return [`${room === 'Spare' ? 'on spare room' : 'on spare room if asked'}${which}`];
}

/** Whether pods of a class may run in spare room, may ask to, or must. */
export type SpareGrant = 'None' | 'IfAsked' | 'Always';

/** What the policies that apply to a pod say together: spare room is granted by any one of them, and by none if there are none. */
export function spareGrant(policies: readonly { readonly runOn: RunOn }[], className: string): SpareGrant {
  const rooms = policies.flatMap(({ runOn }) => (concerns(runOn, className) ? [runOn.room] : []));
  if (rooms.includes('Spare')) return 'Always';
  return rooms.includes('Either') ? 'IfAsked' : 'None';
}

/** Whether the policy says something about spare room for pods of a class. */
export function concerns({ room, classNames }: RunOn, className: string): boolean {
  return room !== 'Requested' && classNames?.includes(className) !== false;
}
