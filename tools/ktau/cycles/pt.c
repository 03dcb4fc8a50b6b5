// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of Intel Processor Trace. Decoding is libipt's; this is the only file that uses it.
 *
 * libipt's instruction decoder skips CYC packets, so a second decoder reads the packets. A CYC
 * packet is followed by the packet of the instruction that retired at its time; of a TNT packet
 * with several branches, that is the first one (Intel SDM, volume 3, "Cycle Packet Semantics"). A
 * conditional jump takes a bit of a TNT packet, a return a bit or a TIP packet, and an indirect
 * jump or call a TIP packet. The CYC packets before a packet count the instructions since the last
 * count, up to the one that takes the packet, or its first bit.
 *
 *	CYC 3	TNT(1)	CYC 9	TNT(1)
 *			3 cycles belong to the block that ends with the first conditional jump
 *
 * The position of the instruction decoder is no help: how far it reads ahead depends on libipt.
 */
#include "recording.h"

#include <inttypes.h>
#include <string.h>

#include "lib/cli.h"

#ifdef KTAU_HAVE_LIBIPT
#include <intel-pt.h>

/**
 * struct pt_decoding - one part of a buffer being decoded
 * @source: its source
 * @code: the code that ran
 * @insn: instruction decoder
 * @packets: packet decoder
 * @at: position of @packets
 * @cycles: those of CYC packets before @at that are not attributed yet
 * @counted: whether there was such a packet
 * @bits: of the TNT packet before @at that no instruction has taken yet
 * @offset: position of the part in its buffer
 */
struct pt_decoding {
	struct trace_source *source;
	const struct code *code;
	struct pt_insn_decoder *insn;
	struct pt_packet_decoder *packets;
	uint64_t at, cycles;
	bool counted;
	unsigned int bits;
	uint64_t offset;
};

static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	size_t bytes = code_read(context, ip, buffer, size);

	(void)asid;
	return bytes ? (int)bytes : -pte_nomap;
}

/* Read the next packet. What is damaged has none: both decoders go on at the next PSB packet. */
static bool next_packet(struct pt_decoding *d, struct pt_packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	if (pt_pkt_next(d->packets, packet, sizeof(*packet)) < 0) {
		packet->type = ppt_invalid;
		if (pt_pkt_sync_forward(d->packets) < 0) {
			d->at = UINT64_MAX;
			return false;
		}
	}
	if (packet->type == ppt_cyc) {
		d->cycles += packet->payload.cyc.value;
		d->counted = true;
	}
	if (pt_pkt_get_offset(d->packets, &d->at))
		d->at = UINT64_MAX;
	return true;
}

/* Read the packets before @to, up to one of type @last. */
static void read_packets(struct pt_decoding *d, uint64_t to, enum pt_packet_type last)
{
	struct pt_packet packet = { .type = ppt_invalid };

	d->bits = 0;
	while (d->at < to && (last == ppt_invalid || packet.type != last))
		if (!next_packet(d, &packet))
			return;
}

/* Report the CYC packets that have been read, as an element of this kind. */
static void put_counts(struct pt_decoding *d, enum cycles_kind kind)
{
	const struct cycles_element e = {
		.kind = kind, .has_count = d->counted, .cycles = d->cycles,
	};

	if (d->counted || kind != CYCLES_COUNT)
		cycles_add(&d->source->cycles, &e);
	d->counted = false;
	d->cycles = 0;
}

static uint64_t position(const struct pt_decoding *d)
{
	uint64_t offset;

	return pt_insn_get_offset(d->insn, &offset) ? UINT64_MAX : offset;
}

static void put_instruction(struct pt_decoding *d, const struct pt_insn *insn)
{
	const struct cycles_element e = {
		.kind = CYCLES_RANGE,
		.isa = CYCLES_WHOLE,
		.branches = insn->iclass != ptic_other && insn->iclass != ptic_ptwrite,
		.nr_instructions = 1,
		.start = insn->ip,
		.end = insn->ip + insn->size,
	};

	cycles_add(&d->source->cycles, &e);
}

/* Whether a jump or call is indirect: its opcode after prefixes is FF. */
static bool is_indirect(const struct pt_insn *insn)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	};
	size_t i = 0;

	while (i < insn->size && memchr(prefixes, insn->raw[i], sizeof(prefixes)))
		i++;
	if (i < insn->size && insn->mode == ptem_64bit && (insn->raw[i] & 0xf0) == 0x40)
		i++;	/* REX */
	return i < insn->size && insn->raw[i] == 0xff;
}

static bool takes_packet(const struct pt_insn *insn)
{
	switch (insn->iclass) {
	case ptic_call:
	case ptic_jump:
		return is_indirect(insn);
	case ptic_cond_jump:
	case ptic_return:
	case ptic_far_call:
	case ptic_far_jump:
	case ptic_far_return:
		return true;
	default:
		return false;
	}
}

/* Take the bit or packet of @insn, and report what was counted up to it. */
static void take_packet(struct pt_decoding *d, const struct pt_insn *insn)
{
	struct pt_packet packet;

	if (!takes_packet(insn))
		return;
	if (d->bits) {
		d->bits--;
		return;
	}
	do {
		if (!next_packet(d, &packet))
			break;
		if (packet.type == ppt_tnt_8 || packet.type == ppt_tnt_64)
			d->bits = packet.payload.tnt.bit_size;
	} while (!d->bits && packet.type != ppt_tip && packet.type != ppt_tip_pgd);
	if (d->bits)
		d->bits--;
	put_counts(d, CYCLES_COUNT);
}

/*
 * Tracing was off between the packets TIP.PGD and TIP.PGE. An event may be reported when the
 * decoder has gone on already, so its position does not tell where these packets are.
 */
static void take_event(struct pt_decoding *d, const struct pt_event *event)
{
	if (event->status_update)
		return;	/* of a PSB packet: nothing happened */
	switch (event->type) {
	case ptev_disabled:
	case ptev_async_disabled:
		read_packets(d, position(d), ppt_tip_pgd);
		put_counts(d, CYCLES_COUNT);
		break;
	case ptev_async_branch:
		read_packets(d, position(d), ppt_tip);
		put_counts(d, CYCLES_COUNT);
		break;
	case ptev_enabled:
		read_packets(d, position(d), ppt_tip_pge);
		put_counts(d, CYCLES_GAP);
		break;
	case ptev_overflow:
		read_packets(d, position(d), ppt_ovf);
		put_counts(d, CYCLES_GAP);
		break;
	default:
		break;
	}
}

/* Process pending events. Return: the decoder's status. */
static int take_events(struct pt_decoding *d, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(d->insn, &event, sizeof(event));
		if (status >= 0)
			take_event(d, &event);
	}
	return status;
}

/* Decode up to an error. Return: it, with the address of the instruction in @ip. */
static int decode_instructions(struct pt_decoding *d, int status, uint64_t *ip)
{
	struct pt_insn insn;

	for (;;) {
		status = take_events(d, status);
		if (status < 0)
			return status;
		memset(&insn, 0, sizeof(insn));
		status = pt_insn_next(d->insn, &insn, sizeof(insn));
		*ip = insn.ip;
		/* An instruction may be valid even if what follows it is not. */
		if (insn.iclass != ptic_error) {
			put_instruction(d, &insn);
			take_packet(d, &insn);
		}
		if (status < 0)
			return status;
	}
}

static void note_problem(struct pt_decoding *d, int status)
{
	struct trace_source *source = d->source;

	if (!source->problems++)
		snprintf(source->problem, sizeof(source->problem), "%s at byte %" PRIu64,
			 pt_errstr(pt_errcode(status)), d->offset + position(d));
}

/* Process the error that ended the decoding. Return: false at the end of the trace. */
static bool take_error(struct pt_decoding *d, int status, uint64_t ip)
{
	struct cycles_element e = { .kind = CYCLES_UNREAD, .start = ip };

	if (status == -pte_eos)
		return false;
	read_packets(d, position(d), ppt_invalid);
	put_counts(d, CYCLES_COUNT);
	if (status != -pte_nomap) {
		note_problem(d, status);
		e.kind = CYCLES_DAMAGE;
	}
	cycles_add(&d->source->cycles, &e);
	return true;
}

static void decode(struct pt_decoding *d)
{
	const struct cycles_element damage = { .kind = CYCLES_DAMAGE };
	uint64_t ip = 0, sync;
	int status;

	pt_pkt_sync_forward(d->packets);
	pt_pkt_get_offset(d->packets, &d->at);
	while ((status = pt_insn_sync_forward(d->insn)) != -pte_eos) {
		if (status < 0) {
			note_problem(d, status);
			cycles_add(&d->source->cycles, &damage);
			continue;
		}
		/* First the PSB packet, then that of a status, then those of instructions. */
		if (!pt_insn_get_sync_offset(d->insn, &sync))
			read_packets(d, sync, ppt_invalid);
		put_counts(d, CYCLES_COUNT);
		status = decode_instructions(d, status, &ip);
		if (!take_error(d, status, ip))
			break;
	}
	read_packets(d, UINT64_MAX, ppt_invalid);
	put_counts(d, CYCLES_COUNT);
}

static int decode_part(struct pt_decoding *d, const struct trace_part *part)
{
	struct pt_config config;
	int err = -1;

	pt_config_init(&config);
	config.begin = (uint8_t *)part->data;
	config.end = (uint8_t *)part->data + part->bytes;
	d->insn = pt_insn_alloc_decoder(&config);
	d->packets = pt_pkt_alloc_decoder(&config);
	if (d->insn && d->packets &&
	    !pt_image_set_callback(pt_insn_get_image(d->insn), read_memory, (void *)d->code)) {
		decode(d);
		err = 0;
	} else {
		complain("out of memory");
	}
	pt_insn_free_decoder(d->insn);
	pt_pkt_free_decoder(d->packets);
	return err;
}

static int decode_source(struct recording *r, struct trace_source *source)
{
	const struct trace_buffer *buffer = &r->buffers[source->buffer];
	const struct cycles_element damage = { .kind = CYCLES_DAMAGE };
	struct pt_decoding d = { .source = source, .code = &r->code };
	size_t i;

	cycles_init(&source->cycles, CYCLES_BY_BLOCK);
	source->decoded = true;
	for (i = 0; i < buffer->nr_parts; i++) {
		if (i)
			cycles_add(&source->cycles, &damage);
		if (buffer->parts[i].bytes && decode_part(&d, &buffer->parts[i]))
			return -1;
		d.offset += buffer->parts[i].bytes;
	}
	cycles_finish(&source->cycles);
	source->counts = source->cycles.has_counts;
	return 0;
}

int pt_decode(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->nr_sources; i++)
		if (r->sources[i].protocol == TRACE_PT && r->sources[i].buffer >= 0 &&
		    decode_source(r, &r->sources[i]))
			return -1;
	return 0;
}
#else
int pt_decode(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->nr_sources; i++) {
		if (r->sources[i].protocol != TRACE_PT)
			continue;
		complain("built without libipt: install libipt-dev and build again");
		return -1;
	}
	return 0;
}
#endif
