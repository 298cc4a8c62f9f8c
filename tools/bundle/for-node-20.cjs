/*
 * Language features in our sources that Node.js 20 lacks. A newer Node.js has its own, and would spend half of the start
 * of a command on these.
 */
if (!('groupBy' in Map && 'withResolvers' in Promise && 'map' in (globalThis.Iterator?.prototype ?? {}))) {
  require('core-js/actual/map/group-by.js');
  require('core-js/actual/promise/with-resolvers.js');
  require('core-js/actual/iterator/index.js');
}
