/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The protocol by which one workspace's runs are executed: outbox, claim, lease, fence, dead-man's switch, hold.
 *
 * There are two runs, two workers, two schedulers, and a number of faults that can occur at any time: a worker or a
 * scheduler is killed, a worker stalls or is cut off, its registration is deleted, a message is lost or duplicated,
 * a user cancels. A transaction in PostgreSQL is one atomic step here. "step: NAME" names the step, and the function
 * that implements it has the comment "model: NAME" (tests/model/run compares the two lists).
 *
 * Repeated actions (heartbeats, polls, announcements) are steps only if they change something, and the number of
 * faults is bounded, so every behaviour terminates. The properties are:
 *
 *  1. At most one terraform of the workspace is alive, and none of a run that has ended, unless the workspace
 *     is held. Only a user's release while terraform is alive may violate this: it sets `risked`.
 *  2. A result counts only if it is from the current attempt of the job.
 *  3. An apply starts at most once.
 *  4. No plan begins with another state than terraform wrote last, and no state replaces a newer one.
 *     A hold that ends without the last state, by a user or at the deadline, sets `gave_up`.
 *  5. In the end every run has ended: committed work was announced, and waiting work was claimed or ended.
 *     Checked in the final states, and as the formula `live` under weak fairness.
 *
 * Each -D below removes one protection, and spin must then find a violation:
 *   NO_CAS       a claim reads and writes in two steps            NO_FENCE       results count whatever their attempt
 *   NO_DEADMAN   a plan's process outlives its lease              NO_LEASE_LOCK  the sweeper reads a lease, then decides
 *   NO_START     an apply starts without asking                   NO_HOLD        a lost apply lets the queue continue
 *   DELETE_FIRST the outbox row is deleted before its message     NO_ANNOUNCE    waiting jobs are not announced again
 *   NO_LIMIT     an apply outlives its deadline                   HOLD_TIMER     a hold ends before that deadline
 *   STRICT       (with RELEASE) a user's release is no risk
 *
 * With LOST_COMMITS the database fails over once, at any time, to a standby that lacks any number of the last
 * commits:
 *   NO_EPOCH     nothing is fenced                                NO_PROOF       a result counts whichever token it has
 *   NO_PAUSE     jobs are assigned before workers are heard       NO_HEARING     an unknown apply holds nothing
 *   NO_WAIT      jobs of a held workspace are assigned
 * and, with one more fault:
 *   NO_LAST_WAIT a last state ends a hold before all are heard    NO_TAKEOVER    a hold stays that of an earlier attempt
 *   NO_NAMES     heartbeats don't name the leftovers of an earlier worker
 * No rule can prevent two losses: an apply whose commits are lost after its worker has forgotten it (`gave_up`), and
 * an apply that no scheduler knows and whose worker can't be heard for the length of a lease (`unheard`).
 */

#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef SCHEDULERS
#define SCHEDULERS 2
#endif

#define NONE 3

mtype = { nothing, plan, apply }; /* the kind of a job, and of the terraform that is alive */
mtype = { pending, queued, underway, applied, errored, canceled };
mtype = { no_job, waiting, claimed };
mtype = { idle, got, running, reported, gone };

typedef Job {
	mtype state;
	mtype stage;
	byte attempt;
	byte worker;
	byte losses;
	byte stop;    /* 1: it must be interrupted; 2: killed */
	bool started, over
};

/* ---- PostgreSQL ---- */
mtype status[2] = pending;
Job job[2];
byte current = NONE;
bool held;
byte holder = NONE;
byte hold_stop;       /* as a job's */
bit hold_epoch;       /* of the token that may end it, which is that of the attempt */
bool hold_open;       /* no worker has that token yet: a worker that reports an apply of the run gets it */
byte serial;          /* of the workspace's current state */
byte base[2];         /* the serial that a run's plan was made from */
byte row[2];          /* the outbox row of a run's ticket; 0: none */
bool last_said[2];    /* the worker has reported that the state it sent was the apply's last */
bit epoch;            /* part of every token of an attempt: a token from before a failover differs from that of a later claim */
bool pause;           /* after a failover, for the length of a lease: no job is assigned */

/* ---- Kafka ---- */
byte tickets;         /* the number in flight; their jobs do not matter */
chan results = [2] of { byte, mtype, byte, bool, byte, bit }; /* run, stage, attempt, ended well, worker, epoch */

/* ---- workers and their processes ---- */
mtype phase[2] = idle;
mtype live[2] = nothing; /* a separate process: a stalled worker does not stop it */
mtype w_stage[2];
byte w_run[2] = NONE;
byte w_attempt[2];
bool w_well[2];       /* it exited by itself */
byte w_serial[2];     /* the state on its disk */
bool w_lost[2];       /* the worker knows that the attempt is over */
bool expired[2];      /* its own deadline, which comes before the lease's */
bit w_epoch[2];
bool w_began[2];      /* an apply's terraform has begun */
byte w_base[2];       /* from this serial */
bool limited[2];      /* its keeper has reached the deadline of the apply, which is before the scheduler's */
bool up[2] = true;
bool still[2], cut[2];
bool unknown[2];      /* the worker's registration is deleted: its requests are refused until it has registered again */

/* ---- variables of the properties only ---- */
byte written;         /* the serial that terraform wrote last */
byte applies[2];
bool risked, gave_up, unheard;

byte faults = FAULTS;

#define ended(r)   (status[r] == applied || status[r] == errored || status[r] == canceled)
#define ends       (ended(0) && ended(1))
#define works(w)   (up[w] && !still[w])
#define hears(w)   (works(w) && !cut[w])
#define talks(w)   (hears(w) && !unknown[w])
#define has(w, r)  (phase[w] != idle && phase[w] != gone && w_run[w] == r)
#define is_its(w)  (job[w_run[w]].state == claimed && job[w_run[w]].worker == w && \
	job[w_run[w]].stage == w_stage[w] && job[w_run[w]].attempt == w_attempt[w] && w_epoch[w] == epoch)
#define row_number(r) (job[r].attempt + (job[r].stage == apply -> 4 : 0))
#define alive(r)   ((live[0] != nothing && w_run[0] == r) || (live[1] != nothing && w_run[1] == r))
/* The token of its attempt is the hold's. */
#define holds_by(w) (held && !hold_open && holder == w_run[w] && w_attempt[w] == job[holder].attempt && w_epoch[w] == hold_epoch)
#define may_live(w) (holder != NONE && w_run[w] == holder && w_stage[w] == apply && phase[w] != gone && !limited[w])
/* A terraform of the workspace may be working. */
#ifndef NO_WAIT
#define may_begin (!pause && !held)
#else
#define may_begin (!pause)
#endif
#ifndef NO_LAST_WAIT
#define may_settle (!pause)
#else
#define may_settle true
#endif
#define renewed(r) (talks(job[r].worker) && has(job[r].worker, r) && \
	w_attempt[job[r].worker] == job[r].attempt && w_stage[job[r].worker] == job[r].stage)

/* ---- parts of transactions ---- */

inline put_up(r, what)
{
	job[r].state = waiting;
	job[r].stage = what;
	job[r].attempt = 1;
	job[r].losses = 0;
	job[r].started = false;
	job[r].stop = 0;
	job[r].over = false;
	status[r] = queued;
	row[r] = row_number(r)
}

/* step: queue */
inline queue_goes_on()
{
	if
	:: current == NONE && !held && status[0] == pending -> current = 0; put_up(0, plan)
	:: current == NONE && !held && status[0] != pending && status[1] == pending -> current = 1; put_up(1, plan)
	:: else
	fi
}

inline end(r, how)
{
	status[r] = how;
	job[r].state = no_job;
	job[r].worker = NONE;
	row[r] = 0;
	assert(held || !alive(r) || unheard); /* 1 */
	assert(how != applied || applies[r] == 1 || unheard);
	if
	:: current == r -> current = NONE
	:: else
	fi;
	queue_goes_on()
}

inline again(r)
{
	job[r].state = waiting;
	job[r].attempt++;
	job[r].losses++;
	job[r].worker = NONE;
	job[r].started = false;
	job[r].over = false;
	status[r] = queued;
	row[r] = row_number(r)
}

/* step: lost */
inline lose(r)
{
	if
	:: job[r].stage == apply && job[r].started ->
#ifndef NO_HOLD
		if
		:: !last_said[r] -> held = true; holder = r; hold_stop = job[r].stop; hold_epoch = epoch
		:: else
		fi;
		end(r, errored)
#else
		end_unchecked(r, errored)
#endif
	:: !(job[r].stage == apply && job[r].started) && job[r].stop -> end(r, canceled)
	:: !(job[r].stage == apply && job[r].started) && !job[r].stop && job[r].losses == 0 -> again(r)
	:: else -> end(r, errored)
	fi
}

#ifdef NO_HOLD
inline end_unchecked(r, how)
{
	status[r] = how;
	job[r].state = no_job;
	job[r].worker = NONE;
	row[r] = 0;
	current = NONE;
	queue_goes_on()
}
#endif

/* step: state */
inline take_state(w)
{
	if
	:: w_serial[w] > serial -> serial = w_serial[w]
	:: else
	fi;
	last_said[w_run[w]] = true
}

inline hold_ends()
{
	held = false;
	holder = NONE;
	hold_stop = 0;
	hold_epoch = 0;
	hold_open = false;
	queue_goes_on()
}

/* step: laststate */
inline last_state(w)
{
	if
	:: holds_by(w) -> assert(!alive(holder) || unheard); take_state(w); hold_ends()
	:: !held && is_its(w) -> take_state(w)
	:: else
	fi
}

inline forget(w)
{
	phase[w] = idle;
	w_run[w] = NONE;
	w_lost[w] = false;
	w_well[w] = false;
	w_serial[w] = 0;
	w_attempt[w] = 0;
	w_epoch[w] = 0;
	w_base[w] = 0;
	w_began[w] = false;
	w_stage[w] = nothing;
	expired[w] = false;
	limited[w] = false
}

inline take_job(w, r)
{
	job[r].state = claimed;
	job[r].worker = w;
	job[r].over = false;
	status[r] = underway;
	row[r] = 0; /* a ticket sent now has no receiver */
	phase[w] = got;
	w_run[w] = r;
	w_stage[w] = job[r].stage;
	w_attempt[w] = job[r].attempt;
	w_epoch[w] = epoch;
	expired[w] = false;
	limited[w] = false
}

inline begin(w)
{
#ifndef STRICT
	assert(live[1 - w] == nothing || risked || unheard); /* 1 */
#else
	assert(live[1 - w] == nothing); /* 1 */
#endif
	live[w] = w_stage[w];
	if
	:: w_stage[w] == apply -> w_began[w] = true; w_base[w] = base[w_run[w]]
	:: else
	fi;
	w_well[w] = false;
	phase[w] = running
}

/* The process exits. An apply has written its state by then. */
inline process_ends(w, well)
{
	if
	:: live[w] == apply -> w_serial[w] = w_base[w] + 1; written = w_serial[w]
	:: else
	fi;
	live[w] = nothing;
	w_well[w] = well
}

/* It is killed, and writes no state. */
inline process_killed(w)
{
	live[w] = nothing;
	w_well[w] = false
}

/* The effect of a stop on a process: an interrupt ends it regularly. */
inline process_stopped(w, how)
{
	if
	:: how == 1 -> process_ends(w, false)
	:: else -> process_killed(w)
	fi
}

inline send_ticket()
{
	if
	:: tickets < 2 -> tickets++
	:: else /* there are as many tickets in flight as there can be jobs */
	fi
}

inline reset_message()
{
	r = 0; stage = 0; attempt = 0; well = 0; who = 0; made = 0
}

/* step: settle */
inline settle(its, part, number_of, good, sender, token)
{
	if
#if defined(NO_FENCE)
	:: job[its].state == claimed ->
#elif defined(NO_PROOF)
	:: job[its].state == claimed && job[its].stage == part && job[its].attempt == number_of ->
#else
	:: job[its].state == claimed && job[its].stage == part && job[its].attempt == number_of && token == epoch ->
#endif
		assert(job[its].worker == sender && job[its].stage == part && job[its].attempt == number_of && token == epoch); /* 2 */
		if
		:: part == apply && job[its].started -> end(its, (good || !job[its].stop -> applied : canceled))
		:: !(part == apply && job[its].started) && job[its].stop -> end(its, canceled)
		:: part == plan && !job[its].stop && good -> put_up(its, apply)
		:: part == apply && !job[its].started && !job[its].stop -> end(its, errored)
		:: else -> again(its)
		fi
	:: else
	fi
}

/* After a failover (below): an apply of a job that the database does not know. */
#define applies_unknown(w) (w_began[w] && w_epoch[w] != epoch && (job[w_run[w]].stage != apply || \
	(held && holder == w_run[w] && hold_epoch != epoch && (hold_open || later_attempt(w)))))
#ifndef NO_TAKEOVER
#define later_attempt(w) (job[holder].attempt < w_attempt[w])
#else
#define later_attempt(w) false
#endif

/* Leftovers of an earlier worker are named, too. */
#ifndef NO_NAMES
#define is_named(p) (p == gone)
#else
#define is_named(p) false
#endif

/* step: hear */
inline hear(w)
{
#if defined(LOST_COMMITS) && !defined(NO_HEARING)
	if
	:: applies_unknown(w) && job[w_run[w]].stage != apply ->
		held = true; holder = w_run[w]; hold_stop = 0; hold_epoch = w_epoch[w];
		job[holder].stage = apply; job[holder].attempt = w_attempt[w];
		end(holder, errored)
	:: applies_unknown(w) && job[w_run[w]].stage == apply -> job[holder].attempt = w_attempt[w]; hold_open = false
	:: else
	fi
#else
	skip
#endif
}

/* ---- processes ---- */

proctype Worker(byte w)
{
#ifdef NO_CAS
	byte seen = NONE;
#endif

endless:	do
	/* step: claim */
#ifndef NO_CAS
	:: atomic { talks(w) && phase[w] == idle && tickets > 0 && may_begin -> tickets--;
		if
		:: job[0].state == waiting -> take_job(w, 0)
		:: job[0].state != waiting && job[1].state == waiting -> take_job(w, 1)
		:: else
		fi }
#else
	:: atomic { talks(w) && phase[w] == idle && seen == NONE && tickets > 0 -> tickets--;
		if
		:: job[0].state == waiting -> seen = 0
		:: job[0].state != waiting && job[1].state == waiting -> seen = 1
		:: else
		fi }
	:: atomic { talks(w) && seen != NONE -> take_job(w, seen); seen = NONE }
#endif
	:: atomic { works(w) && phase[w] == got && w_stage[w] == plan && !expired[w] ->
		assert(serial == written || gave_up || w_epoch[w] != epoch); /* 4; the results of a fenced plan do not count */
		base[w_run[w]] = serial;
		begin(w) }
	/* step: start */
#ifndef NO_START
	:: atomic { talks(w) && phase[w] == got && w_stage[w] == apply && !expired[w] && !limited[w] ->
		if
		:: is_its(w) && !job[w_run[w]].stop ->
			job[w_run[w]].started = true;
			applies[w_run[w]]++;
			assert(applies[w_run[w]] == 1 || unheard); /* 3 */
			begin(w)
		:: is_its(w) && job[w_run[w]].stop -> phase[w] = running
		:: else -> forget(w)
		fi }
#else
	:: atomic { works(w) && phase[w] == got && w_stage[w] == apply ->
		job[w_run[w]].started = job[w_run[w]].started || is_its(w);
		applies[w_run[w]]++;
		assert(applies[w_run[w]] == 1); /* 3 */
		begin(w) }
#endif
	/* The keeper starts nothing after the deadline: the job fails. */
	:: atomic { works(w) && phase[w] == got && w_stage[w] == apply && limited[w] -> phase[w] = running }
	/* terraform exits by itself, whatever its worker does */
	:: atomic { up[w] && live[w] != nothing -> process_ends(w, true) }
	/* step: result */
	:: atomic { talks(w) && phase[w] == running && live[w] == nothing && !w_lost[w] && is_its(w) && nfull(results) ->
		if
		:: w_stage[w] == apply && job[w_run[w]].started -> take_state(w)
		:: else
		fi;
		results!w_run[w], w_stage[w], w_attempt[w], w_well[w], w, w_epoch[w];
		phase[w] = reported }
	/* a lost result is sent again, since its attempt is still held */
	:: atomic { talks(w) && phase[w] == reported && is_its(w) && empty(results) ->
		results!w_run[w], w_stage[w], w_attempt[w], w_well[w], w, w_epoch[w] }
	/* The broker is unavailable: the result is sent by HTTP, whether or not the message arrives. */
	/* step: httpresult */
	:: atomic { talks(w) && phase[w] == reported && is_its(w) && faults < FAULTS ->
		settle(w_run[w], w_stage[w], w_attempt[w], w_well[w], w, w_epoch[w]) }
	/* Its processes are not affected. */
	/* step: register */
	:: atomic { hears(w) && unknown[w] -> unknown[w] = false }
	/* step: heartbeat */
	:: atomic { talks(w) && phase[w] != idle && phase[w] != gone && is_its(w) && (job[w_run[w]].over || expired[w]) ->
		job[w_run[w]].over = false;
		expired[w] = false }
	/* step: stop */
	:: atomic { talks(w) && phase[w] == running && is_its(w) && job[w_run[w]].stop && live[w] != nothing ->
		process_stopped(w, job[w_run[w]].stop) }
	/* The same for a terraform that outlived its attempt. */
	:: atomic { talks(w) && w_lost[w] && live[w] != nothing && holds_by(w) && hold_stop ->
		process_stopped(w, hold_stop) }
#ifdef LOST_COMMITS
	:: atomic { talks(w) && (w_lost[w] || is_named(phase[w])) && applies_unknown(w) -> hear(w) }
#endif
	/* The heartbeat's answer says that the attempt is over. A plan is killed. An apply continues, and its
	 * earlier uploads are requested again. */
	:: atomic { talks(w) && phase[w] != idle && phase[w] != gone && !is_its(w) && !w_lost[w] ->
		hear(w);
		if
		:: w_stage[w] == apply && (phase[w] == running || holds_by(w)) -> w_lost[w] = true
		:: else ->
			if
			:: live[w] != nothing -> process_ends(w, false)
			:: else
			fi;
			forget(w)
		fi }
	:: atomic { talks(w) && w_lost[w] && live[w] == nothing && may_settle -> last_state(w); forget(w) }
	/* After kill -9, with its folder: delivers the job's leftovers. */
	:: atomic { talks(w) && phase[w] == gone && !applies_unknown(w) && may_settle ->
		if
		:: w_stage[w] == apply && w_serial[w] > 0 -> last_state(w)
		:: else
		fi;
		forget(w) }
	od
}

/* step: limit */
inline limit(w)
{
	limited[w] = true;
#ifndef NO_LIMIT
	if
	:: live[w] == apply -> process_ends(w, false)
	:: live[w] == apply -> process_killed(w)
	:: else
	fi
#endif
}

/* Steps caused only by the passing of time. */
proctype Clock()
{
endless:	do
	/* step: deadman */
	:: atomic { phase[0] != idle && !expired[0] && !talks(0) -> expired[0] = true;
#ifndef NO_DEADMAN
		if
		:: live[0] == plan -> process_ends(0, false)
		:: else
		fi
#endif
		}
	:: atomic { phase[1] != idle && !expired[1] && !talks(1) -> expired[1] = true;
#ifndef NO_DEADMAN
		if
		:: live[1] == plan -> process_ends(1, false)
		:: else
		fi
#endif
		}
	/* The deadline matters only if the worker can't be heard. */
	:: atomic { w_stage[0] == apply && phase[0] != idle && phase[0] != gone && !limited[0] && (held || !talks(0)) -> limit(0) }
	:: atomic { w_stage[1] == apply && phase[1] != idle && phase[1] != gone && !limited[1] && (held || !talks(1)) -> limit(1) }
	:: atomic { job[0].state == claimed && !job[0].over && !renewed(0) && (!has(job[0].worker, 0) || expired[job[0].worker]) -> job[0].over = true }
	:: atomic { job[1].state == claimed && !job[1].over && !renewed(1) && (!has(job[1].worker, 1) || expired[job[1].worker]) -> job[1].over = true }
	od
}

proctype Scheduler(byte s)
{
	byte r, attempt, who, mine = NONE, number;
	mtype stage;
	bool well;
	bit made;
#ifdef NO_LEASE_LOCK
	byte seen = NONE, read;
#endif

endless:	do
	/* step: publish */
	:: atomic { mine == NONE && (row[0] || row[1]) ->
		if
		:: row[0] -> mine = 0
		:: else -> mine = 1
		fi;
		number = row[mine];
#ifdef DELETE_FIRST
		row[mine] = 0
#else
		send_ticket()
#endif
		}
	/* step: delete */
	:: atomic { mine != NONE ->
#ifdef DELETE_FIRST
		send_ticket();
#else
		if
		:: row[mine] == number -> row[mine] = 0
		:: else
		fi;
#endif
		mine = NONE;
		number = 0 }
	/* the scheduler is killed in between */
	:: atomic { mine != NONE && faults > 0 -> faults--; mine = NONE; number = 0 }
	:: atomic { nempty(results) -> results?r, stage, attempt, well, who, made;
		settle(r, stage, attempt, well, who, made);
		reset_message() }
	/* step: sweep */
#ifndef NO_LEASE_LOCK
	:: atomic { job[0].state == claimed && job[0].over -> lose(0) }
	:: atomic { job[1].state == claimed && job[1].over -> lose(1) }
#else
	:: atomic { seen == NONE && job[0].state == claimed && job[0].over -> seen = 0; read = job[0].attempt }
	:: atomic { seen != NONE ->
		if
		:: job[seen].state == claimed && job[seen].attempt == read -> lose(seen)
		:: else
		fi;
		seen = NONE }
#endif
	/* step: expire */
#ifndef HOLD_TIMER
	:: atomic { held && !may_live(0) && !may_live(1) ->
#else
	:: atomic { held ->
#endif
		gave_up = gave_up || serial != written;
		hold_ends() }
	/* step: announce */
#ifndef NO_ANNOUNCE
	:: atomic { (job[0].state == waiting || job[1].state == waiting) && !row[0] && !row[1] && tickets == 0 && mine == NONE ->
		if
		:: job[0].state == waiting -> row[0] = row_number(0)
		:: else -> row[1] = row_number(1)
		fi }
#endif
	od
}

/* step: cancel */
inline cancel(r)
{
	if
	:: status[r] == pending || job[r].state == waiting -> end(r, canceled)
	:: else -> job[r].stop = 1
	fi
}

/* Cancels once, and forces it. */
proctype Person()
{
	if
	:: atomic { !ended(0) && !job[0].stop -> cancel(0) }
	:: atomic { !ended(1) && !job[1].stop -> cancel(1) }
	/* step: holdcancel */
	:: atomic { held && hold_stop == 0 -> hold_stop = 1 }
	:: ends
	fi;
	if
	/* step: force */
	:: atomic { job[0].state == claimed && job[0].stop == 1 -> job[0].stop = 2 }
	:: atomic { job[1].state == claimed && job[1].stop == 1 -> job[1].stop = 2 }
	/* step: holdforce */
	:: atomic { held && hold_stop == 1 -> hold_stop = 2 }
	:: ends
	fi
}

/* Ends a hold without knowing whether its terraform is alive. */
proctype Releaser()
{
	if
	/* step: release */
	:: atomic { held ->
		risked = risked || alive(holder);
		gave_up = gave_up || serial != written || alive(holder);
		hold_ends() }
	:: ends
	fi
}

inline kill(w)
{
	up[w] = false;
	if
	:: live[w] != nothing -> process_ends(w, false) /* it dies with its worker */
	:: else
	fi;
	if
	:: phase[w] != idle -> phase[w] = gone
	:: else
	fi
}

inline drop_result()
{
	results?r, stage, attempt, well, who, made;
	reset_message()
}

inline repeat_result()
{
	results?<r, stage, attempt, well, who, made>;
	results!r, stage, attempt, well, who, made;
	reset_message()
}

#define fault faults > 0 && !ends

/* Stalled workers continue, cut off ones are reconnected, killed ones are restarted: at any later time. */
proctype Faults()
{
	byte r, attempt, who;
	mtype stage;
	bool well;
	bit made;

endless:	do
	:: atomic { fault && up[0] -> faults--; kill(0) }
	:: atomic { fault && up[1] -> faults--; kill(1) }
	:: !up[0] -> up[0] = true
	:: !up[1] -> up[1] = true
	:: atomic { fault && !still[0] && phase[0] != idle -> faults--; still[0] = true }
	:: atomic { fault && !still[1] && phase[1] != idle -> faults--; still[1] = true }
	:: still[0] -> still[0] = false
	:: still[1] -> still[1] = false
	:: atomic { fault && !cut[0] && phase[0] != idle -> faults--; cut[0] = true }
	:: atomic { fault && !cut[1] && phase[1] != idle -> faults--; cut[1] = true }
	:: atomic { fault && !unknown[0] && phase[0] != idle -> faults--; unknown[0] = true }
	:: atomic { fault && !unknown[1] && phase[1] != idle -> faults--; unknown[1] = true }
	:: cut[0] -> cut[0] = false
	:: cut[1] -> cut[1] = false
#ifndef NO_LOSS
	:: atomic { fault && tickets > 0 -> faults--; tickets-- }
	:: atomic { fault && nempty(results) -> faults--; drop_result() }
#endif
	:: atomic { fault && tickets == 1 -> faults--; tickets++ }
	:: atomic { fault && len(results) == 1 -> faults--; repeat_result() }
	od
}

#ifdef LOST_COMMITS
/* The standby's data. */
Job old_job[2];
mtype old_status[2];
byte old_current, old_holder, old_stop, old_serial, old_base[2], old_row[2];
bool old_held, old_said[2];

inline job_copy(to, from)
{
	to.state = from.state;
	to.stage = from.stage;
	to.attempt = from.attempt;
	to.worker = from.worker;
	to.losses = from.losses;
	to.stop = from.stop;
	to.started = from.started;
	to.over = from.over
}

/* An attempt from before the failover: its claim, and the start of its apply, may be among the lost commits. */
inline fence(r)
{
	if
	:: job[r].state != no_job && job[r].stage == apply ->
		held = true; holder = r; hold_stop = 0; hold_epoch = 0; hold_open = job[r].state == waiting;
		end(r, errored)
	:: job[r].state == claimed && job[r].stage == plan && job[r].stop -> end(r, canceled)
	:: job[r].state == claimed && job[r].stage == plan && !job[r].stop -> again(r)
	:: else
	fi
}

#define applies_it(w, r) (w_run[w] == r && w_began[w])
#define no_old_plan(w) (live[w] != plan && (phase[w] != got || w_stage[w] != plan || expired[w]))
#define is_heard(w) (!talks(w) || !applies_unknown(w))

proctype Failover()
{
	bool forgot;

	/* The standby has the commits up to here. */
	atomic {
		job_copy(old_job[0], job[0]); job_copy(old_job[1], job[1]);
		old_status[0] = status[0]; old_status[1] = status[1];
		old_current = current; old_held = held; old_holder = holder; old_stop = hold_stop;
		old_serial = serial; old_base[0] = base[0]; old_base[1] = base[1];
		old_row[0] = row[0]; old_row[1] = row[1];
		old_said[0] = last_said[0]; old_said[1] = last_said[1]
	}
	/* step: epoch */
	atomic {
		/* States that were written and forgotten by their worker meanwhile are lost. */
		forgot = serial != old_serial && !(has(0, 0) && w_serial[0] == serial) && !(has(0, 1) && w_serial[0] == serial) &&
			!(has(1, 0) && w_serial[1] == serial) && !(has(1, 1) && w_serial[1] == serial);
		gave_up = gave_up || forgot;
		job_copy(job[0], old_job[0]); job_copy(job[1], old_job[1]);
		status[0] = old_status[0]; status[1] = old_status[1];
		current = old_current; held = old_held; holder = old_holder; hold_stop = old_stop;
		serial = old_serial; base[0] = old_base[0]; base[1] = old_base[1];
		row[0] = old_row[0]; row[1] = old_row[1];
		last_said[0] = old_said[0]; last_said[1] = old_said[1];
		if
		:: status[0] != applied && !applies_it(0, 0) && !applies_it(1, 0) -> applies[0] = 0
		:: else
		fi;
		if
		:: status[1] != applied && !applies_it(0, 1) && !applies_it(1, 1) -> applies[1] = 0
		:: else
		fi;
#ifndef NO_EPOCH
		epoch = 1;
#ifndef NO_PAUSE
		pause = true;
#endif
		fence(0);
		fence(1);
#endif
	}
#ifndef NO_EPOCH
	/* At the end of the lease, an earlier plan has ended or never begins: its worker was told, or its own lease
	 * is over. And heartbeats have come from all workers that can be heard. */
	atomic { no_old_plan(0) && no_old_plan(1) && is_heard(0) && is_heard(1) ->
		unheard = applies_unknown(0) || applies_unknown(1);
		gave_up = gave_up || unheard;
		pause = false }
#endif
}
#endif

init
{
	atomic {
		job[0].state = no_job; job[1].state = no_job;
		job[0].worker = NONE; job[1].worker = NONE;
		queue_goes_on();
		run Worker(0);
		run Worker(1);
		run Scheduler(0);
#if SCHEDULERS == 2
		run Scheduler(1);
#endif
#ifdef CANCEL
		run Person();
#endif
#ifdef RELEASE
		run Releaser();
#endif
#ifdef LOST_COMMITS
		run Failover();
#endif
		run Clock();
		run Faults()
	}
	timeout -> assert(ends && !held) /* 5 */
}

ltl live { <> ends }
