/** All sentences in the rescheduler's Events and log. None of them promises anything (S3-38). */

export function passNote(planned: number, moved: number, isDryRun: boolean): string {
  const pods = planned === 1 ? '1 pod' : `${planned} pods`;
  return isDryRun
    ? `${pods} would be moved; see status.moves. Nothing was evicted (dry run)`
    : `${moved} of ${pods} were evicted to be placed better; see status.moves`;
}

export function avoidCause(policy: string, text: string): string {
  return `ReschedulingPolicy ${policy}: ${text}`;
}

export const LOG = {
  passFailed: 'Rescheduling pass failed',
  passMade: 'Rescheduling pass made',
  podMoved: 'Pod evicted to be placed better',
  ownerKeptAway: 'Owner kept away from a node that refuses its pods',
  moveRefused: 'Move not carried out',
  avoidNotWritten: 'Avoid entry not written',
  statusNotWritten: 'Rescheduling status not written',
} as const;
