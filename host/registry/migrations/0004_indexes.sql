-- What every call looks for costs as much with thousands of workers as with one.
CREATE INDEX workers_running ON workers (backend) WHERE state = 'running';
-- Workers that have ended and are kept for a time only.
CREATE INDEX workers_expiring ON workers (retain, ended_ns) WHERE state = 'stopped' AND retain NOT IN ('', 'until-clean');
CREATE INDEX events_worker ON events (worker);
CREATE INDEX events_worker_id ON events (worker_id);
-- Agents whose worker was not found to have ended.
CREATE INDEX agents_live ON agents (worker_id) WHERE status <> 'terminated' AND lost_ns = 0;
