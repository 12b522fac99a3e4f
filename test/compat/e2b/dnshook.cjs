// Every name below sbx.test is this machine, for programs under test: node --require ./dnshook.cjs …
// Nothing else is changed, and no name server is asked.
'use strict'

const dns = require('node:dns')

const ours = (name) => typeof name === 'string' && /(^|\.)sbx\.test\.?$/i.test(name)
const here = { address: '127.0.0.1', family: 4 }
const { lookup } = dns
const promised = dns.promises.lookup

dns.lookup = function (name, options, done) {
  if (typeof options === 'function') [options, done] = [{}, options]
  if (!ours(name)) return lookup.call(dns, name, options, done)
  const all = typeof options === 'object' && options !== null && options.all
  process.nextTick(() => (all ? done(null, [here]) : done(null, here.address, here.family)))
}

dns.promises.lookup = async function (name, options) {
  if (!ours(name)) return promised.call(dns.promises, name, options)
  return options?.all ? [here] : here
}
