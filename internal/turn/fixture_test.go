package turn_test

import (
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
)

var fixture = &tenant.Tenant{
	ID:     "test",
	Prompt: "You are the front desk.",
	Catalog: tenant.Catalog{
		BusinessName: "Test Studio",
		Currency:     "EUR",
		Offerings: []tenant.Offering{{
			ID: "wheel", Name: "Wheel course", Description: "Throwing on the wheel.",
			Price: tenant.Money{Amount: 18000, Currency: "EUR"},
		}},
	},
	Rules: tenant.Rules{
		Messages:            tenant.Messages{Acknowledgement: ackCopy, Escalation: escalationCopy, MediaFallback: fallbackCopy},
		ConfidenceThreshold: 0.6,
		HistoryDays:         30,

		RateLimit:               tenant.RateLimit{TurnsPerSubscriberPerHour: 60},
		MaxTurnsPerConversation: 25,
		IdleResetHours:          24,
		PriceGuard:              tenant.PriceGuardEscalate,
		OpeningTrigger:          &tenant.OpeningTrigger{Keywords: []string{"start"}, Message: scriptedCopy},
	},
	Keywords: tenant.Keywords{
		Escalation: keyword.NewSet([]string{"refund"}),
		Opening:    keyword.NewSet([]string{"start"}),
	},
}
