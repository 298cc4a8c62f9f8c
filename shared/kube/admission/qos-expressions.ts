import { celVariable, ROW, type CelVariable } from './cel-variable.ts';

/** A pod with more cannot be judged, and is refused; more than a node could run. */
const MOST_CONTAINERS = ROW * ROW;
/** A QoS class is not longer. */
const LONGEST_SHOWN = 40;

/**
 * A QoS class in the status of a new pod must be what follows from its requests and limits (shared/domain/pod/qos.ts).
 * The API server has made sure by then that no request is above its limit, so that the sums are equal where each is.
 */
export const QOS_VARIABLES: readonly CelVariable[] = [
  celVariable('givenQos', "object.?status.?qosClass.orValue('')"),
  celVariable(
    'parts',
    'has(object.spec.resources) ? [object.spec] : object.spec.containers + object.spec.?initContainers.orValue([])',
  ),
  celVariable(
    'isBestEffort',
    everyPart(
      '!(has(part.resources) && (',
      `  (has(part.resources.requests) && (${isStated('part.resources.requests')})) ||`,
      `  (has(part.resources.limits) && (${isStated('part.resources.limits')}))))`,
    ),
  ),
  celVariable(
    'isGuaranteed',
    everyPart(
      'has(part.resources) && has(part.resources.limits) && has(part.resources.requests) &&',
      `  ${isEqual('cpu')} &&`,
      `  ${isEqual('memory')}`,
    ),
  ),
  celVariable(
    'qosClass',
    "variables.isBestEffort ? 'BestEffort' : variables.isGuaranteed ? 'Guaranteed' : 'Burstable'",
  ),
  celVariable(
    'qosFault',
    "!params.spec.checkQosClass || variables.givenQos == '' ? '' :",
    `size(variables.parts) > ${MOST_CONTAINERS} ?`,
    `  params.spec.messagePrefix + 'status.qosClass cannot be checked on a pod with more than ${MOST_CONTAINERS} containers' :`,
    "variables.givenQos == variables.qosClass ? '' :",
    "  params.spec.messagePrefix + 'status.qosClass must be `' + variables.qosClass +",
    "    '`, which follows from the pod\\'s requests and limits, not ' +",
    `    (size(variables.givenQos) > ${LONGEST_SHOWN} ? 'a longer text' : '\`' + variables.givenQos + '\`')`,
  ),
];

function everyPart(...condition: readonly string[]): string {
  const part = `row * ${ROW} + column`;
  const holds = condition.join('\n');
  return [
    `size(variables.parts) <= ${ROW} ?`,
    `variables.parts.all(part, ${holds}) :`,
    `variables.numbers.all(row, row * ${ROW} >= size(variables.parts) || variables.numbers.all(column,`,
    `  ${part} >= size(variables.parts) || [variables.parts[${part}]].all(part, ${holds})))`,
  ].join('\n');
}

function isStated(amounts: string): string {
  return `${isPositive(`${amounts}.cpu`)} || ${isPositive(`${amounts}.memory`)}`;
}

function isPositive(amount: string): string {
  return `(has(${amount}) && quantity(${amount}).isGreaterThan(quantity('0')))`;
}

function isEqual(name: string): string {
  const [limit, request] = [`part.resources.limits.${name}`, `part.resources.requests.${name}`];
  return `${isPositive(limit)} && has(${request}) && quantity(${limit}) == quantity(${request})`;
}
