import { z } from 'zod';
import { DISRUPTIONS } from '#shared/kube/resource.ts';
import { DISRUPTION_SPEC, DISRUPTION_STATUS } from '#shared/api/disruption.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { column, type KindDefinition, wideColumn } from '#tools/definitions/kind-definition.ts';

export const DISRUPTION_DEFINITION: KindDefinition = {
  resource: DISRUPTIONS,
  columns: [
    column('Pod', 'string', '.spec.pod'),
    column('Cause', 'string', '.spec.cause'),
    column('Class', 'string', '.spec.priorityClassName'),
    column('Node', 'string', '.spec.node'),
    column('Replaced-On', 'string', '.status.replacement.node'),
    column('Reason', 'string', '.spec.because.text'),
    wideColumn('Count', 'integer', '.status.count'),
    wideColumn('Requested-By', 'string', '.spec.requestedBy'),
    wideColumn('Room-For', 'string', '.spec.madeRoomFor.pod'),
    wideColumn('Set-Aside-On', 'string', '.spec.madeRoomFor.nominatedNode'),
    wideColumn('Placed-On', 'string', '.status.placedOn'),
    column('Age', 'date', '.spec.removedAt'),
  ],
  selectableFields: ['cause', 'node', 'pod', 'podUID'],
  schema: described(
    z.object({ spec: DISRUPTION_SPEC, status: DISRUPTION_STATUS.optional() }),
    'Disruption is the record of a removed pod. It says what was removed, when, by what, and why. plimsoll-controller writes it.',
  ),
};
